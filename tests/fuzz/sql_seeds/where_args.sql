arg_set_id = 2 and key like 'args.%'
