"""How values of K over some rows are served: by compiled tiles, a given matrix, a function, a matrix that is held."""
