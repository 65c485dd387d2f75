"""How a compiled loop looks whether its call was interrupted, so that it may return."""

from __future__ import annotations

from .references import operation, tools


@operation
def interrupted(typing):
    """Must the loop end? A load and a branch, unless some call was interrupted (`kernels.interrupts`)."""

    def emit(context, builder, signature, args):
        ir, module, cgutils = tools.ir, builder.module, tools.cgutils
        word = module.globals.get("semiring_interrupted")
        if word is None:
            word = ir.GlobalVariable(module, ir.IntType(64), "semiring_interrupted")
        count = builder.load_atomic(word, "monotonic", 8)  # each time anew
        answer = cgutils.alloca_once_value(builder, ir.IntType(1)(0))
        some = builder.icmp_unsigned("!=", count, ir.IntType(64)(0))
        with builder.if_then(some, likely=False):
            kind = ir.FunctionType(ir.IntType(32), [])
            mine = builder.call(cgutils.get_or_insert_function(module, kind, "semiring_asked"), [])
            builder.store(builder.icmp_unsigned("!=", mine, ir.IntType(32)(0)), answer)
        return builder.load(answer)

    return tools.types.boolean(), emit
