import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import postgres from 'postgres'

// What somebody writes without a tool: fetch, then upsert what differs. Arguments: work, URL, database.
const [, , work, url, database] = process.argv
const sql = postgres(database, { max: 1, onnotice: () => {} })

if (work === 'flat') {
  await sql`create table if not exists flat (key int primary key, name text, at timestamptz, value bigint)`
  const response = await fetch(url)
  await pipeline(response.body, await sql`copy flat from stdin with (format csv, header)`.writable())
} else {
  const body = await (await fetch(url)).json()
  const records = work === 'items' ? body.map((one) => [one.internalName, one]) : Object.entries(body)
  const rows = records.map(([key, record]) => {
    const document = JSON.stringify(record)
    return { key, hash: createHash('sha256').update(document).digest('hex'), document }
  })
  await sql`create table if not exists ${sql(work)} (key text primary key, hash text not null, document jsonb not null, changed_at timestamptz not null default now())`
  await sql.begin(async (sql) => {
    for (let from = 0; from < rows.length; from += 1000)
      await sql`
        insert into ${sql(work)} (key, hash, document)
        select key, hash, document::jsonb from jsonb_to_recordset(${sql.json(rows.slice(from, from + 1000))}) as given(key text, hash text, document text)
        on conflict (key) do update set hash = excluded.hash, document = excluded.document, changed_at = now()
         where ${sql(work)}.hash <> excluded.hash`
  })
}
await sql.end()
