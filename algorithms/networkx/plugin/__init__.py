"""A module that is installed beside the packages, so that `import networkx` need not import them."""
