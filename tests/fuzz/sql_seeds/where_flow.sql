slice_out = 1 or slice_in in (2, 3)
