with recursive c(x) as (select 1 union all select x+1 from c) select group_concat(x) from c
