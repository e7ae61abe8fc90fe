import type { PGlite } from '@electric-sql/pglite'
import { FatalError } from '../../base/errors.ts'
import { READER } from '../reader.ts'

/*
 * The session of the embedded database is the superuser's, since Postgres runs in single-user mode, and the `username`
 * of PGlite is a SET ROLE that anybody takes back. So the session is bound from inside:
 *
 * - Its user becomes the reader, as in a function that runs with the rights of another (SECURITY_LOCAL_USERID_CHANGE).
 *   There Postgres refuses to set role or session_authorization, also in DO blocks and by set_config, until the process
 *   ends.
 * - Every transaction reads only, and the check of the two settings that could change this accepts no other value. A role
 *   without any right may otherwise still alter itself, give up its grants and create large objects.
 *
 * Both reach into the memory of the one PGlite that the package names, so what they are for is tried afterwards: where one
 * way is open, nothing is served.
 */

/** Parameters for the start of a session that will be bound. */
export const READ_ONLY = ['-c', 'default_transaction_read_only=on']

const SECURITY_LOCAL_USERID_CHANGE = 1
const USER_SETTABLE = 6
const ERROR = 21

/** Words of the struct config_bool (src/include/utils/guc_tables.h of PostgreSQL 18, 32 bits). */
const WORD = { name: 0, context: 1, checkHook: 25, count: 30 }

/** What of PGlite's module is needed; its types do not name all of it. */
interface Internals {
  readonly wasmMemory: { readonly buffer: ArrayBuffer }
  addFunction(work: (value: number) => number, signature: string): number
  stackSave(): number
  stackRestore(to: number): void
  stringToUTF8OnStack(text: string): number
  UTF8ToString(at: number): string
  _find_option(name: number, create: number, skip: number, level: number): number
  _SetUserIdAndSecContext(user: number, context: number): void
}

/**
 * Binds the session to the reader, for as long as the process lives.
 * @throws FatalError when it could be got around
 */
export async function bindToReader(engine: PGlite): Promise<void> {
  const internals = engine.Module as unknown as Internals
  // To sleep would hold the one session, and with it the process, for as long as a client likes.
  await engine.transaction(async (session) => {
    await session.exec('set transaction read write')
    await session.exec(`do $$ declare each regprocedure; begin
      for each in select oid from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname like 'pg\\_sleep%'
      loop execute format('revoke execute on function %s from public', each); end loop; end $$`)
  })
  const [reader] = (await engine.query<{ id: number }>('select $1::regrole::oid as id', [READER])).rows
  for (const setting of ['transaction_read_only', 'default_transaction_read_only']) acceptOnlyTrue(internals, setting)
  await engine.exec(`set session authorization ${READER}`)
  internals._SetUserIdAndSecContext(Number(reader?.id), SECURITY_LOCAL_USERID_CHANGE)
  await tryToEscape(engine)
}

function acceptOnlyTrue(internals: Internals, setting: string): void {
  const stack = internals.stackSave()
  const at = internals._find_option(internals.stringToUTF8OnStack(setting), 0, 0, ERROR)
  internals.stackRestore(stack)
  const words = new Uint32Array(internals.wasmMemory.buffer, at, WORD.count)
  const isKnown = internals.UTF8ToString(words[WORD.name] ?? 0) === setting && words[WORD.context] === USER_SETTABLE
  if (!isKnown) throw new FatalError(`this version of PGlite keeps ${setting} elsewhere: the database cannot be served`)
  // The memory may grow, and have another buffer then.
  const valueAt = (pointer: number) => new Uint8Array(internals.wasmMemory.buffer)[pointer] ?? 0
  words[WORD.checkHook] = internals.addFunction(valueAt, 'iiii')
}

async function tryToEscape(engine: PGlite): Promise<void> {
  for (const statement of [
    'set session authorization postgres',
    'reset session authorization',
    'set role postgres',
    'reset role',
    `select set_config('role', 'postgres', false)`,
    'begin read write',
    'set transaction read write',
    'set default_transaction_read_only = off',
    'select pg_sleep(0)',
    `select pg_read_file('PG_VERSION')`,
    `select lo_create(0)`,
  ]) {
    const isRefused = await engine.exec(statement).then(
      () => false,
      () => true,
    )
    if (!isRefused) throw new FatalError(`the database cannot be served: a client could "${statement}"`)
  }
}
