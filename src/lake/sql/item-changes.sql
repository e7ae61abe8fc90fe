-- What changed in items, a row for each changed path.
select changed_at, key as internal_name, path, old_value, new_value, is_revert
  from field_change
 where resource = 'items'
 order by changed_at, internal_name, path
