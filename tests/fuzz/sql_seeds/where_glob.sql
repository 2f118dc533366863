name glob 'g*' or name = 'aten::mm'
