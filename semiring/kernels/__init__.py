"""What kernels on CPU and GPU share: machine code on disk, a line while they are compiled, and Ctrl-C."""
