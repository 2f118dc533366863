attach 'x.db' as y; pragma writable_schema=1; select load_extension('x'), readfile('x')
