import { openServer } from '../../../src/db/server/server.ts'

// Flat rows through the copy of the loader, as a process of its own: no command loads any. Arguments: URL, database.
const [url = '', database = ''] = process.argv.slice(2)
const [header = '', ...lines] = (await (await fetch(url)).text()).trimEnd().split('\n')
const db = await openServer(database)
await db.query('create table flat (key int primary key, name text, at timestamptz, value bigint)')
await db.transaction((sql) =>
  sql.copy(
    'flat',
    header.split(','),
    lines.map((line) => line.split(',')),
  ),
)
await db.close()
