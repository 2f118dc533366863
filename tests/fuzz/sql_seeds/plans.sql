select * from slice a join slice b on a.track_id=b.track_id and a.ts between b.ts and b.ts+b.dur where a.name like '%a%' and b.name glob '*' and a.id in (1,2) order by a.name
