"""Operations of LLVM's for compiled loops: on sixteen neighbouring elements of an array, in vector registers.

The caller makes sure that so many elements can be read. `prefetched` has an element fetched ahead of its use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .compiler.references import Helper, operation, tools

WIDTH = 16
"""Elements that an operation takes."""


def _pointer(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Where elements of an array lie from a place on, as a pointer to a vector of integers of their size."""
    item = tools.ir.IntType(8 * context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), tools.ir.VectorType(item, WIDTH).as_pointer())


def _loaded(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """The integers of an array from a place on."""
    loaded = builder.load(_pointer(context, builder, kind, array, at))
    loaded.align = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    return loaded


def _repeated(builder: Any, vector: Any, lane: int) -> Any:
    """One of a vector's elements in all its lanes."""
    count = vector.type.count
    lanes = tools.ir.Constant(tools.ir.VectorType(tools.ir.IntType(32), count), [lane] * count)
    return builder.shuffle_vector(vector, tools.ir.Constant(vector.type, tools.ir.Undefined), lanes)


def _everywhere(builder: Any, number: Any, lanes: int) -> Any:
    """A number in all lanes of a vector."""
    nothing = tools.ir.Constant(tools.ir.VectorType(number.type, lanes), tools.ir.Undefined)
    return _repeated(builder, builder.insert_element(nothing, number, tools.ir.IntType(32)(0)), 0)


def _spread(builder: Any, vector: Any, number: Any) -> Any:
    """A number in all lanes of a vector like another; its bits that have no room there are zeros."""
    item = vector.type.element
    number = number if item.width == number.type.width else builder.trunc(number, item)
    return _everywhere(builder, number, WIDTH)


def _inside(builder: Any, vector: Any, count: Any, inside: int, outside: int) -> Any:
    """A vector like another with one number in its first `count` lanes, and one in the others.

    To mask with: where elements are selected, LLVM loads under a mask, which takes Zen 5 three times as long.
    """
    numbers, *choices = (
        tools.ir.Constant(vector.type, lanes) for lanes in (list(range(WIDTH)), [inside] * WIDTH, [outside] * WIDTH)
    )
    return builder.select(builder.icmp_signed("<", numbers, _spread(builder, vector, count)), *choices)


@operation
def among(typing: Any, x: Any, i: Any, y: Any, k: Any, count: Any) -> Any:
    """A bit for each of x[i], …, x[i + WIDTH - 1]: is it one of the first `count` of y[k], …? None of y is negative."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        ir, (x_type, _, y_type, *_) = tools.ir, signature.args
        ours = _loaded(context, builder, x_type, *args[:2])
        theirs = _loaded(context, builder, y_type, *args[2:4])
        negative = -1 << (theirs.type.element.width - 1)
        theirs = builder.or_(theirs, _inside(builder, theirs, args[4], 0, negative))
        found = ir.Constant(ir.VectorType(ir.IntType(1), WIDTH), [0] * WIDTH)
        for lane in range(WIDTH):
            found = builder.or_(found, builder.icmp_signed("==", ours, _repeated(builder, theirs, lane)))
        return builder.zext(builder.bitcast(found, ir.IntType(WIDTH)), ir.IntType(64))

    index = tools.types.intp
    return tools.types.uint64(x, index, y, index, index), emit


@operation
def below(typing: Any, x: Any, i: Any, count: Any, bound: Any) -> Any:
    """How many of the first `count` of the integers x[i], …, x[i + WIDTH - 1] are below a bound, which x could hold."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        ir, numbers = tools.ir, _loaded(context, builder, signature.args[0], *args[:2])
        flags = builder.icmp_signed("<", numbers, _spread(builder, numbers, args[3]))
        word = builder.zext(builder.bitcast(flags, ir.IntType(WIDTH)), ir.IntType(64))
        counted = builder.sub(builder.shl(ir.IntType(64)(1), args[2]), ir.IntType(64)(1))
        return builder.ctpop(builder.and_(word, counted))

    index = tools.types.intp
    return tools.types.int64(x, index, index, index), emit


@operation
def moved(typing: Any, x: Any, i: Any, y: Any, k: Any) -> Any:
    """y[k], …, y[k + WIDTH - 1] = x[i], …, x[i + WIDTH - 1], integers of two sizes or anything of one."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        x_type, _, y_type, _ = signature.args
        to = _pointer(context, builder, y_type, *args[2:])
        vector, kind = _loaded(context, builder, x_type, *args[:2]), to.type.pointee
        if vector.type != kind:
            vector = (builder.sext if kind.element.width > vector.type.element.width else builder.trunc)(vector, kind)
        builder.store(vector, to).align = kind.element.width // 8
        return context.get_dummy_value()

    return tools.types.void(x, tools.types.intp, y, tools.types.intp), emit


@operation
def total(typing: Any, x: Any, i: Any, count: Any) -> Any:
    """The sum, in int64, of the first `count` of the integers x[i], …, x[i + WIDTH - 1]."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        ir, word = tools.ir, tools.ir.IntType(64)
        wide = ir.VectorType(word, WIDTH)
        terms = _loaded(context, builder, signature.args[0], *args[:2])
        terms = terms if terms.type == wide else builder.sext(terms, wide)
        terms = builder.and_(terms, _inside(builder, terms, args[2], -1, 0))
        kind = ir.FunctionType(word, [wide])
        name = f"llvm.vector.reduce.add.v{WIDTH}i64"
        return builder.call(tools.cgutils.get_or_insert_function(builder.module, kind, name), [terms])

    index = tools.types.intp
    return tools.types.int64(x, index, index), emit


@operation
def ones(typing: Any, word: Any) -> Any:
    """How many bits of a word are set."""
    return tools.types.uint64(tools.types.uint64), lambda context, builder, signature, args: builder.ctpop(args[0])


@operation
def lowest(typing: Any, word: Any) -> Any:
    """The number of the lowest bit that is set; of 0, anything."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], tools.ir.IntType(1)(1))

    return tools.types.uint64(tools.types.uint64), emit


@operation
def prefetched(typing: Any, array: Any, index: Any) -> Any:
    """Have x_i fetched, for it will be looked at."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = context.cast(builder, args[1], signature.args[1], tools.types.intp)
        parts = context.make_array(signature.args[0])(context, builder, args[0])
        pointer = builder.bitcast(builder.gep(parts.data, [at]), tools.ir.IntType(8).as_pointer())
        flag = tools.ir.IntType(32)
        kind = tools.ir.FunctionType(tools.ir.VoidType(), [pointer.type, flag, flag, flag])
        fetch = tools.cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(fetch, [pointer, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return tools.types.void(array, index), emit


class Across(Helper):
    """A function of elements, in all lanes of vectors. Its parts are what `across` takes."""

    by_types = True

    @property
    def numbas(self) -> Any:
        from .compiler.compiler import across

        return across(*self.parts)


def across(step: Callable[..., Any], arrays: int, lanes: int, rows: int = 1, *, vectors: bool = True) -> Any:
    """Makes f(y, i, x, k, …, *numbers) for compiled code: y[i + lane] = step(y[i + lane], x[k + lane], …, *numbers).

    arrays: how many of step's parameters are elements of arrays.  rows: how many times, each so many lanes further.
    vectors: tells LLVM to make one vector of all lanes. It complains where it cannot.
    """
    return Across(step, arrays, lanes, rows, vectors)


def filled(lanes: int) -> Any:
    """Makes f(y, number) for compiled code, which sets the first `lanes` elements of y."""

    @operation
    def fill(typing: Any, y: Any, number: Any) -> Any:
        number = tools.types.unliteral(number)

        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            value = context.cast(builder, args[1], number, y.dtype)
            item = context.get_value_as_data(builder, y.dtype, value)
            to = _vector(context, builder, y, args[0], tools.ir.IntType(32)(0), lanes)
            builder.store(_everywhere(builder, item, lanes), to).align = context.get_abi_sizeof(item.type)
            return context.get_dummy_value()

        return tools.types.void(y, number), emit

    return fill


def copied(lanes: int) -> Any:
    """Makes f(y, i, x, k) for compiled code, which copies `lanes` elements of x from k on to y from i on."""

    @operation
    def copy(typing: Any, y: Any, i: Any, x: Any, k: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            index = tools.types.intp
            places = (context.cast(builder, args[1], i, index), context.cast(builder, args[3], k, index))
            to = _vector(context, builder, y, args[0], places[0], lanes)
            vector = builder.load(_vector(context, builder, x, args[2], places[1], lanes))
            vector.align = context.get_abi_sizeof(vector.type.element)
            builder.store(vector, to).align = vector.align
            return context.get_dummy_value()

        return tools.types.void(y, i, x, k), emit

    return copy


def _vector(context: Any, builder: Any, kind: Any, array: Any, at: Any, lanes: int) -> Any:
    """Where elements of an array lie from a place on, as a pointer to a vector of so many."""
    data = context.make_array(kind)(context, builder, array).data
    vector = tools.ir.VectorType(context.get_data_type(kind.dtype), lanes)
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


def on_stack(lanes: int) -> Any:
    """Makes f(like), an array of `lanes` elements of like's dtype that lives in registers if nothing else sees it."""

    @operation
    def made(typing: Any, like: Any) -> Any:
        kind = tools.types.Array(like.dtype, 1, "C")

        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            item, word = context.get_data_type(like.dtype), tools.ir.IntType(64)
            size = word(context.get_abi_sizeof(item))
            with builder.goto_entry_block():
                room = builder.alloca(tools.ir.ArrayType(item, lanes))
                room.align = 64
            array = context.make_array(kind)(context, builder)
            array.data = builder.bitcast(room, item.as_pointer())
            array.nitems, array.itemsize = word(lanes), size
            array.shape, array.strides = (tools.cgutils.pack_array(builder, [each]) for each in (word(lanes), size))
            array.meminfo, array.parent = (each.type(None) for each in (array.meminfo, array.parent))
            return array._getvalue()

        return kind(like), emit

    return made


def first_equal(lanes: int) -> Any:
    """Makes f(x, number): the place of the first of `lanes` elements of x that equals a number, as one of them does."""

    @operation
    def first(typing: Any, x: Any, number: Any) -> Any:
        number = tools.types.unliteral(number)

        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            ir, value = tools.ir, context.cast(builder, args[1], number, x.dtype)
            item = context.get_value_as_data(builder, x.dtype, value)
            vector = builder.load(_vector(context, builder, x, args[0], ir.IntType(32)(0), lanes))
            vector.align = context.get_abi_sizeof(item.type)
            compared = builder.icmp_signed if isinstance(item.type, ir.IntType) else builder.fcmp_ordered
            equal = builder.bitcast(compared("==", vector, _everywhere(builder, item, lanes)), ir.IntType(lanes))
            count = builder.cttz(equal, ir.IntType(1)(1))
            return builder.zext(count, ir.IntType(64)) if lanes < 64 else count

        return tools.types.int64(x, number), emit

    return first
