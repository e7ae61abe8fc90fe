-- Players online in each full hour (UTC) whose averages are made, hidden ones included.
select hour, total_avg, total_max, hidden_avg from online_hour order by hour
