name regexp '^cuda.*Kernel$' and category = 'cuda_runtime'
