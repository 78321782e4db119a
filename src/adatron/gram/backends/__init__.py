"""Sources of K's values over some rows: compiled tiles, a given matrix, a function, a matrix held in memory."""
