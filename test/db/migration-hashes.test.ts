import { execFile } from 'node:child_process'
import { appendFile, cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/postgres.ts'

const script = fileURLToPath(new URL('../../scripts/record-migrations.mjs', import.meta.url))

/** Runs what follows `drizzle-kit generate`; rejects with what it says when it refuses. */
async function record(folder: string, ...options: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [script, folder, ...options])
}

async function copyOfMigrations(): Promise<string> {
  const folder = await temporaryFolder()
  await cp(fileURLToPath(new URL('../../migrations', import.meta.url)), folder, { recursive: true })
  return folder
}

test('an edited or missing migration is refused by name, also one of the earlier editions', async () => {
  const folder = await copyOfMigrations()
  await record(folder, '--check')
  await appendFile(join(folder, '0003_kept.sql'), '\n')
  await rm(join(folder, '0004_bounds.sql'))
  await appendFile(join(folder, 'earlier', '1795300802928_0007_captures.sql'), '\n')
  for (const options of [['--check'], []]) {
    const refused = record(folder, ...options)
    await expect(refused).rejects.toThrow(/0003_kept\.sql was edited/)
    await expect(refused).rejects.toThrow(/0004_bounds\.sql is missing/)
    await expect(refused).rejects.toThrow(/earlier\/1795300802928_0007_captures\.sql was edited/)
  }
})

test('a new migration must be recorded, is recorded by itself, with its chains deferrable, and may not be edited then', async () => {
  const folder = await copyOfMigrations()
  const before = JSON.parse(await readFile(join(folder, 'hashes.json'), 'utf8'))
  const path = join(folder, '9999_new.sql')
  await writeFile(
    path,
    'ALTER TABLE "game"."a" ADD CONSTRAINT "a_chain" FOREIGN KEY ("x") REFERENCES "game"."a"("y");\n',
  )
  await expect(record(folder, '--check')).rejects.toThrow(/9999_new\.sql is not recorded/)
  await record(folder)
  expect(await readFile(path, 'utf8')).toMatch(/REFERENCES "game"\."a"\("y"\) DEFERRABLE INITIALLY DEFERRED;\n$/)
  const after = JSON.parse(await readFile(join(folder, 'hashes.json'), 'utf8'))
  expect(after).toEqual({ ...before, '9999_new.sql': expect.stringMatching(/^[0-9a-f]{64}$/) })
  await record(folder, '--check')
  await appendFile(path, 'select 1;')
  await expect(record(folder)).rejects.toThrow(/9999_new\.sql was edited/)
})

test('of the snapshots the newest alone stays', async () => {
  const folder = await copyOfMigrations()
  const meta = join(folder, 'meta')
  const snapshots = async () => (await readdir(meta)).filter((name) => name.endsWith('_snapshot.json'))
  const [kept] = await snapshots()
  expect(await snapshots()).toEqual([kept])
  await cp(join(meta, kept ?? ''), join(meta, '9999_snapshot.json'))
  await expect(record(folder, '--check')).rejects.toThrow(/1 snapshots beside the newest/)
  await record(folder)
  expect(await snapshots()).toEqual(['9999_snapshot.json'])
})

test('a new table of samples that grows is partitioned by month', async () => {
  const folder = await copyOfMigrations()
  const path = join(folder, '9999_new.sql')
  const create = (table: string) => `CREATE TABLE "game"."${table}" (\n\t"observed_at" timestamp with time zone\n);\n`
  const step = '--> statement-breakpoint\n'
  const index = 'CREATE INDEX "a_time" ON "game"."a" USING brin ("observed_at");\n'
  await writeFile(path, `${create('a')}${step}${create('b')}${step}${index}`)
  await record(folder)
  const rest = 'CREATE TABLE "partitions"."a_rest" PARTITION OF "game"."a" DEFAULT;\n'
  const partitioned = create('a').replace(';', ' PARTITION BY RANGE ("observed_at");')
  expect(await readFile(path, 'utf8')).toBe(`${partitioned}${step}${rest}${step}${create('b')}${step}${index}`)
})
