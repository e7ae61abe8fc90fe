/**
 * The tables of a DuckLake 1.0 catalogue (https://ducklake.select/docs/stable/specification/tables/overview): name, then columns.
 * A reader asks all of them, also those that are empty here.
 */
const TABLES = `
  metadata: key varchar not null, value varchar not null, scope varchar, scope_id bigint
  snapshot: snapshot_id bigint primary key, snapshot_time timestamptz, schema_version bigint, next_catalog_id bigint, next_file_id bigint
  snapshot_changes: snapshot_id bigint primary key, changes_made varchar, author varchar, commit_message varchar, commit_extra_info varchar
  schema: schema_id bigint primary key, schema_uuid uuid, begin_snapshot bigint, end_snapshot bigint, schema_name varchar, path varchar, path_is_relative boolean
  schema_versions: begin_snapshot bigint, schema_version bigint, table_id bigint
  table: table_id bigint, table_uuid uuid, begin_snapshot bigint, end_snapshot bigint, schema_id bigint, table_name varchar, path varchar, path_is_relative boolean
  column: column_id bigint, begin_snapshot bigint, end_snapshot bigint, table_id bigint, column_order bigint, column_name varchar, column_type varchar, initial_default varchar, default_value varchar, nulls_allowed boolean, parent_column bigint, default_value_type varchar, default_value_dialect varchar
  view: view_id bigint, view_uuid uuid, begin_snapshot bigint, end_snapshot bigint, schema_id bigint, view_name varchar, dialect varchar, sql varchar, column_aliases varchar
  data_file: data_file_id bigint primary key, table_id bigint, begin_snapshot bigint, end_snapshot bigint, file_order bigint, path varchar, path_is_relative boolean, file_format varchar, record_count bigint, file_size_bytes bigint, footer_size bigint, row_id_start bigint, partition_id bigint, encryption_key varchar, mapping_id bigint, partial_max bigint
  delete_file: delete_file_id bigint primary key, table_id bigint, begin_snapshot bigint, end_snapshot bigint, data_file_id bigint, path varchar, path_is_relative boolean, format varchar, delete_count bigint, file_size_bytes bigint, footer_size bigint, encryption_key varchar, partial_max bigint
  column_mapping: mapping_id bigint, table_id bigint, type varchar
  name_mapping: mapping_id bigint, column_id bigint, source_name varchar, target_field_id bigint, parent_column bigint, is_partition boolean
  table_stats: table_id bigint, record_count bigint, next_row_id bigint, file_size_bytes bigint
  table_column_stats: table_id bigint, column_id bigint, contains_null boolean, contains_nan boolean, min_value varchar, max_value varchar, extra_stats varchar
  file_column_stats: data_file_id bigint, table_id bigint, column_id bigint, column_size_bytes bigint, value_count bigint, null_count bigint, min_value varchar, max_value varchar, contains_nan boolean, extra_stats varchar
  file_variant_stats: data_file_id bigint, table_id bigint, column_id bigint, variant_path varchar, shredded_type varchar, column_size_bytes bigint, value_count bigint, null_count bigint, min_value varchar, max_value varchar, contains_nan boolean, extra_stats varchar
  partition_info: partition_id bigint, table_id bigint, begin_snapshot bigint, end_snapshot bigint
  partition_column: partition_id bigint, table_id bigint, partition_key_index bigint, column_id bigint, transform varchar
  file_partition_value: data_file_id bigint, table_id bigint, partition_key_index bigint, partition_value varchar
  sort_info: sort_id bigint, table_id bigint, begin_snapshot bigint, end_snapshot bigint
  sort_expression: sort_id bigint, table_id bigint, sort_key_index bigint, expression varchar, dialect varchar, sort_direction varchar, null_order varchar
  tag: object_id bigint, begin_snapshot bigint, end_snapshot bigint, key varchar, value varchar
  column_tag: table_id bigint, column_id bigint, begin_snapshot bigint, end_snapshot bigint, key varchar, value varchar
  inlined_data_tables: table_id bigint, table_name varchar, schema_version bigint
  files_scheduled_for_deletion: data_file_id bigint, path varchar, path_is_relative boolean, schedule_start timestamptz
  macro: schema_id bigint, macro_id bigint, macro_name varchar, begin_snapshot bigint, end_snapshot bigint
  macro_impl: macro_id bigint, impl_id bigint, dialect varchar, sql varchar, type varchar
  macro_parameters: macro_id bigint, impl_id bigint, column_id bigint, parameter_name varchar, parameter_type varchar, default_value varchar, default_value_type varchar`

/** A statement for each table, in the attached database `made`. */
export const catalogueStatements: readonly string[] = TABLES.trim()
  .split('\n')
  .map((line) => line.trim().split(': '))
  .map(([name, columns]) => `create table made.ducklake_${name} (${columns})`)
