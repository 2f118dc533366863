select * from ancestor_slice(2), following_flow(1); select extract_arg(arg_set_id,'args.Input Dims[0][1]'), regexp('(a|b)*',name), percentile(dur,50) from slice group by name
