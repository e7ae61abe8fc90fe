import { UsageError } from '../../../base/errors.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import type { Database, Sql } from '../../../db/database.ts'
import { addWebKey, readWebKeys, removeWebKey } from '../../../web/http/key-store.ts'
import { type ConsentFlags, consent } from '../../ask.ts'
import { type Context, tableWidth, withDatabase, writeResult, writeSummary } from '../../context.ts'
import { boldFirstLine, formatTable } from '../../output/table.ts'

/** `web-key add <name>`: prints a new key. @throws UsageError when the name cannot be taken */
export async function webKeyAdd(context: Context, _flags: object, name: string): Promise<void> {
  if (!/^[\w.@ -]{1,60}$/.test(name))
    throw new UsageError('the name must be 1 to 60 letters, digits, blanks and any of . _ - @')
  return await withDatabase(
    context,
    'web-key add',
    async (db) => {
      const key = await addWebKey(db, { name, createdAt: new Date(context.app.clock.now()) })
      if (key === undefined) throw new UsageError(`there is a key ${name} already; wynnsync web-key remove it first`)
      const said = `\nkept is only its hash: note it now. Requests name it as "Authorization: Bearer KEY" or "X-API-Key: KEY".\n`
      writeResult(context, { name, key }, `${key}\n${context.flags.quiet ? '' : said}`)
    },
    { access: 'change', isShort: true },
  )
}

export async function webKeyList(context: Context): Promise<void> {
  return await withDatabase(context, 'web-key list', async (db) => {
    const keys = await readWebKeys(db)
    const table = formatTable(['name', 'createdAt'], keys, { width: tableWidth(context) })
    writeResult(
      context,
      { keys },
      keys.length > 0 ? table : 'no keys; make one: wynnsync web-key add NAME\n',
      boldFirstLine,
    )
  })
}

/** `web-key remove <name>`: asks, and removes a key. @throws UsageError when there is no such key */
export async function webKeyRemove(context: Context, flags: ConsentFlags, name: string): Promise<void> {
  const command = 'web-key remove'
  const keys = await withDatabase(context, command, async (db) => {
    const known = await readWebKeys(db)
    if (!known.some((key) => key.name === name)) throw new UsageError(`key not found: ${name}; ${await namesOf(db)}`)
    return known
  })
  if (flags.dryRun) return writeSummary(context, { keys }, `would remove ${name}; nothing was changed\n`)
  await consent(context, flags, {
    command,
    question: `Remove the key ${visibleLine(name)}? Requests with it count as those of a stranger then.`,
  })
  const remove = async (db: Database) => {
    await removeWebKey(db, name)
    writeSummary(context, { keys: await readWebKeys(db) }, `removed ${name}\n`)
  }
  return await withDatabase(context, command, remove, { access: 'change', isShort: true })
}

async function namesOf(sql: Sql): Promise<string> {
  const keys = await readWebKeys(sql)
  return keys.length === 0 ? 'there are none' : `there are: ${keys.map(({ name }) => name).join(', ')}`
}
