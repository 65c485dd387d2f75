"""The storage formats, a file for each (CSR and CSC share one), and the rows and columns that a matrix keeps."""
