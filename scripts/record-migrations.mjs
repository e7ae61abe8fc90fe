// Runs after `drizzle-kit generate` (npm run db:generate): makes the chains of new migrations deferrable and partitions
// their tables of samples by month, which drizzle cannot say, and adds the SHA-256 of every new migration to migrations/hashes.json. Of
// the snapshots of drizzle-kit only the newest stays: the next migration is made from it alone. With --check it writes nothing.
// A migration that is listed there is never edited: databases that have run it would not get the change.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, exit, stderr } from 'node:process'
import { fileURLToPath } from 'node:url'

const isCheck = argv.includes('--check')
const folder =
  argv.slice(2).find((argument) => !argument.startsWith('--')) ??
  fileURLToPath(new URL('../migrations', import.meta.url))
const list = join(folder, 'hashes.json')
const recorded = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : {}

const files = ['.', 'earlier'].flatMap((part) => {
  const path = join(folder, part)
  const names = existsSync(path) ? readdirSync(path).filter((name) => name.endsWith('.sql')) : []
  return names.sort().map((name) => (part === '.' ? name : `${part}/${name}`))
})
const hashOf = (file) =>
  createHash('sha256')
    .update(readFileSync(join(folder, file)))
    .digest('hex')

/** A table that is indexed by blocks of time (BRIN on observed_at) grows for ever. Its other partitions come with its rows. */
function withPartitions(migration) {
  const growing = [...migration.matchAll(/ON "game"\."(\w+)" USING brin \("observed_at"\)/g)].map(([, table]) => table)
  return growing.reduce(
    (text, table) =>
      text.replace(
        new RegExp(`(CREATE TABLE "game"\\."${table}" \\([^;]*\\n\\));`),
        `$1 PARTITION BY RANGE ("observed_at");\n--> statement-breakpoint\nCREATE TABLE "partitions"."${table}_rest" PARTITION OF "game"."${table}" DEFAULT;`,
      ),
    migration,
  )
}

const problems = Object.entries(recorded).flatMap(([file, hash]) => {
  if (!files.includes(file)) return [`${file} is missing; a migration that has been in main stays`]
  if (hashOf(file) === hash) return []
  return [
    `${file} was edited after it was recorded; databases that have run it do not get the change. Restore it (git checkout main -- migrations/${file}) and generate a new migration. Only if it has never been in main: delete its line in migrations/hashes.json and run npm run db:generate again`,
  ]
})
const added = files.filter((file) => !(file in recorded))
if (isCheck)
  problems.push(
    ...added.map(
      (file) => `${file} is not recorded in migrations/hashes.json; run npm run db:generate, which records it`,
    ),
  )
const meta = join(folder, 'meta')
const old = (existsSync(meta) ? readdirSync(meta) : [])
  .filter((name) => name.endsWith('_snapshot.json'))
  .sort()
  .slice(0, -1)
if (isCheck && old.length > 0)
  problems.push(
    `migrations/meta has ${old.length} snapshots beside the newest; run npm run db:generate, which removes them`,
  )
if (problems.length > 0) {
  stderr.write(`${problems.join('\n')}\n`)
  exit(1)
}
for (const file of isCheck ? [] : added) {
  const path = join(folder, file)
  const text = readFileSync(path, 'utf8')
  const deferrable = text.replace(
    /(ADD CONSTRAINT "\w+_chain" FOREIGN KEY [^;]*?)(?<! DEFERRABLE INITIALLY DEFERRED);/g,
    '$1 DEFERRABLE INITIALLY DEFERRED;',
  )
  const partitioned = withPartitions(deferrable)
  if (partitioned !== text) writeFileSync(path, partitioned)
  recorded[file] = hashOf(file)
}
for (const name of isCheck ? [] : old) rmSync(join(meta, name))
if (!isCheck) writeFileSync(list, `${JSON.stringify(Object.fromEntries(Object.entries(recorded).sort()), null, 2)}\n`)
