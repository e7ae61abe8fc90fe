-- Players on each world in each full hour (UTC) whose averages are made.
select world, hour, online_avg, online_max from world_hour order by hour, world
