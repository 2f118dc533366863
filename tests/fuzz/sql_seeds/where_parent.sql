parent_id is null or track_id > 0 and dur < 5000
