id in (1,2) and ts between 1000 and 20000
