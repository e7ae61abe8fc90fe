-- The files of the views moved. Their old names would be kept for ever, and each file be installed again.
DO $$
BEGIN
  IF to_regclass('sync.installed_sql') IS NOT NULL THEN
    UPDATE sync.installed_sql SET name = replace(name, 'src/analytics/sql/', 'src/questions/sql/') WHERE name LIKE 'src/analytics/sql/%';
  END IF;
END $$;
