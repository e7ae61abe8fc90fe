import { fileURLToPath } from 'node:url'
import type { PeerEnvironment } from './environment.ts'
import type { Responses, Work } from './responses.ts'

/** Where a tool loads into, and from. */
export interface Place {
  readonly database: string
  /** Of the tool's own state; it begins empty, and stays as long as the database. */
  readonly folder: string
  readonly responses: Responses
}

/** A program that loads responses into Postgres. */
export interface Tool {
  readonly name: string
  command(work: Work, place: Place): readonly string[]
  variables(place: Place): Record<string, string>
  /** The key of every version that ended, once for each; without it the tool keeps no history. */
  readonly endedVersions?: Readonly<Record<'items' | 'territories', string>>
}

/** wynnsync and what loads without Python. */
export function ownTools(program: string, sources: string): Tool[] {
  const copyFlat = fileURLToPath(new URL('copy-flat.js', import.meta.url))
  return [
    {
      name: 'wynnsync',
      command: (work, { responses, database }) =>
        work === 'flat'
          ? [process.execPath, copyFlat, responses.urlOf(work), database]
          : [process.execPath, program, 'sync', work, '--log-level', 'warn'],
      variables: ({ responses, database }) => ({ WYNNSYNC_BASE_URL: responses.baseUrl, DATABASE_URL: database }),
      endedVersions: {
        items: `select internal_name as key from game.item where valid_until < 'infinity'`,
        territories: `select territory as key from game.territory_hold where valid_until < 'infinity'`,
      },
    },
    {
      name: 'plain script',
      command: (work, { responses, database }) => [
        process.execPath,
        `${sources}/plain.mjs`,
        work,
        responses.urlOf(work),
        database,
      ],
      variables: () => ({}),
    },
  ]
}

/** The peers of the environment. */
export function peerTools({ python, target, sling }: PeerEnvironment, sources: string): Tool[] {
  const dlt: Tool = {
    name: 'dlt, SCD2',
    command: (work, { responses, database }) => [
      python,
      `${sources}/with_dlt.py`,
      work,
      responses.urlOf(work),
      database,
    ],
    variables: ({ folder }) => ({ DLT_DATA_DIR: folder, RUNTIME__DLTHUB_TELEMETRY: 'false' }),
    endedVersions: {
      items: 'select internal_name as key from items.items where _dlt_valid_to is not null',
      territories: 'select name as key from territories.territories where _dlt_valid_to is not null',
    },
  }
  const singer: Tool = {
    name: 'target-postgres',
    command: (work, { responses }) => [
      'sh',
      '-c',
      `"$0" "$1" "$2" "$3" | "$4" --config=ENV`,
      python,
      `${sources}/tap.py`,
      work,
      responses.urlOf(work),
      target,
    ],
    variables: ({ database }) => ({
      TARGET_POSTGRES_SQLALCHEMY_URL: database.replace('postgres:', 'postgresql+psycopg:'),
      TARGET_POSTGRES_LOAD_METHOD: 'upsert',
      TARGET_POSTGRES_ADD_RECORD_METADATA: 'false',
      TARGET_POSTGRES_ACTIVATE_VERSION: 'false',
      TARGET_POSTGRES_DEFAULT_TARGET_SCHEMA: 'public',
    }),
  }
  return sling ? [dlt, singer, slingTool(sling)] : [dlt, singer]
}

/** With the password apart: Sling reads none with other characters than letters and digits from a URL. */
function slingConnection(database: string): Record<string, string> {
  const url = new URL(database)
  const password = decodeURIComponent(url.password)
  url.password = ''
  url.searchParams.set('sslmode', 'disable')
  return { TARGET: url.href, PGPASSWORD: password }
}

/**
 * Everything anew each time: its merge by key took 278 s for the items in a single try. Items become columns; the map,
 * whose keys are names, one row with all of it.
 */
function slingTool(program: string): Tool {
  const options: Readonly<Record<Work, string>> = {
    items: '{format: json, flatten: 0}',
    territories: '{format: json}',
    flat: '{format: csv}',
  }
  return {
    name: 'Sling',
    command: (work, { responses }) => [
      program,
      'run',
      '--src-conn',
      new URL(responses.baseUrl).origin,
      '--src-stream',
      responses.urlOf(work),
      '--src-options',
      options[work],
      '--tgt-conn',
      'TARGET',
      '--tgt-object',
      `public.${work}`,
      '--mode',
      'full-refresh',
    ],
    variables: ({ database, folder }) => ({
      ...slingConnection(database),
      SLING_HOME_DIR: folder,
      SLING_DISABLE_TELEMETRY: 'true',
    }),
  }
}
