correlation = 5 and name like 'GE%'
