import type { Sql } from '../database.ts'

/** The repeatable SQL of one program, as the database remembers it. */
export interface InstalledProgram {
  readonly version: string
  /** SHA-256 over all of its repeatable SQL. */
  readonly sqlHash: string
  readonly installedAt: Date
}

export const INSTALLED_PROGRAM = `
create table if not exists sync.installed_program (
  number bigint generated always as identity primary key,
  version text not null,
  sql_hash text not null,
  installed_at timestamptz not null
);
comment on table sync.installed_program is 'Whose repeatable SQL (views, functions, comments) was installed when; the last row is what is installed now.';
comment on column sync.installed_program.number is 'Rises from one installation to the next.';
comment on column sync.installed_program.version is 'Version of the program that installed it.';
comment on column sync.installed_program.sql_hash is 'SHA-256 over its files, in hexadecimal.';
comment on column sync.installed_program.installed_at is 'When it was installed.';
`

export const INSTALLED_PROGRAMS = `
  (select json_agg(json_build_object('version', version, 'sqlHash', sql_hash, 'installedAt', installed_at) order by number)
     from sync.installed_program)`

/**
 * The program whose SQL is installed, when it is newer than this one: two that replaced each other's views at every start
 * would leave neither with its own. Undefined: this one may install its own.
 * @param installed all that ever were, in order
 */
export function newerProgram<Program extends Omit<InstalledProgram, 'installedAt'>>(
  installed: readonly Program[],
  own: Omit<InstalledProgram, 'installedAt'>,
): Program | undefined {
  const latest = installed.at(-1)
  if (!latest || latest.sqlHash === own.sqlHash) return undefined
  const order = compareVersions(latest.version, own.version)
  if (order !== 0) return order > 0 ? latest : undefined
  // Two checkouts of one version: SQL that was here before was replaced by later one.
  return installed.some(({ sqlHash }) => sqlHash === own.sqlHash) ? latest : undefined
}

/** Remembers whose SQL is installed from now on. */
export async function rememberProgram(sql: Sql, { version, sqlHash, installedAt }: InstalledProgram): Promise<void> {
  await sql.query(
    `insert into sync.installed_program (version, sql_hash, installed_at)
     select $1, $2, $3
      where $2 is distinct from (select sql_hash from sync.installed_program order by number desc limit 1)`,
    [version, sqlHash, installedAt],
  )
}

/** Semantic versions in their order; what follows a hyphen comes before the same without. */
function compareVersions(one: string, other: string): number {
  const [[a = '', aPre], [b = '', bPre]] = [one.split('-'), other.split('-')]
  const [left, right] = [a.split('.').map(Number), b.split('.').map(Number)]
  for (let part = 0; part < 3; part++) {
    const difference = (left[part] ?? 0) - (right[part] ?? 0)
    if (difference !== 0) return difference
  }
  if (aPre === bPre) return 0
  if (aPre === undefined || bPre === undefined) return aPre === undefined ? 1 : -1
  return aPre < bPre ? -1 : 1
}
