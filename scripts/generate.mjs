// Writes every generated file of the repository, from the sources and a freshly migrated embedded database. Run by
// `npm run generate`. With --check it writes nothing, and fails when a file is out of date.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process, { argv, chdir, stderr } from 'node:process'
import { z } from 'zod'
import { migrateDatabase, template } from '../dist/app/app.js'
import { systemClock } from '../dist/base/clock.js'
import { jsonSchemas } from '../dist/cli/output/json-schemas.js'
import { openEmbedded } from '../dist/db/embedded/embedded.js'
import { pageOf, readDictionary } from '../dist/questions/dictionary.js'
import { markdownOf } from '../dist/questions/dictionary-markdown.js'
import { viewsModule } from '../dist/questions/views-module.js'
import { clientModule } from '../dist/web/api/client-module.js'
import { openApi } from '../dist/web/api/openapi.js'
import { commentsBySchema } from './generate/comments.mjs'
import { withSettings, withTables } from './generate/docs.mjs'
import { identitiesOf } from './generate/identities.mjs'
import { pythonModule } from './generate/python-client.mjs'
import { recordedViews } from './generate/recorded.mjs'

chdir(join(import.meta.dirname, '..'))
const isCheck = argv.includes('--check')

async function generated(path, text) {
  const before = await readFile(path, 'utf8').catch(() => undefined)
  if (before === text) return
  if (!isCheck) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
    return
  }
  stderr.write(`${path} is out of date; run npm run generate\n`)
  process.exitCode = 1
}

// Before the database is migrated, which installs them.
for (const [schema, text] of Object.entries(await commentsBySchema()))
  await generated(`migrations/comments/${schema}.sql`, text)
await generated('migrations/comments/replica-identity.sql', await identitiesOf())
await generated('src/questions/sql/21-recorded.sql', await recordedViews())
for (const [name, schema] of Object.entries(jsonSchemas))
  await generated(`docs/reference/json/${name}.schema.json`, `${JSON.stringify(z.toJSONSchema(schema), null, 2)}\n`)
for (const name of await readdir('docs', { recursive: true })) {
  if (!name.endsWith('.md')) continue
  const page = await readFile(`docs/${name}`, 'utf8')
  await generated(`docs/${name}`, withTables(page))
}
await generated('CONTRIBUTING.md', withTables(await readFile('CONTRIBUTING.md', 'utf8')))
await generated('docker-compose.yml', withSettings(await readFile('docker-compose.yml', 'utf8')))
const folder = await mkdtemp(join(tmpdir(), 'wynnsync-generate-'))
try {
  // What the build migrated is of these files, unless they have just been written.
  const migrated = isCheck ? { template: () => template() } : {}
  const db = await openEmbedded(folder, { clock: systemClock, holds: ['generate'], waitMs: 1000, ...migrated })
  await migrateDatabase(db, { clock: systemClock })
  const dictionary = await readDictionary(db)
  await generated('src/questions/dictionary.md', markdownOf(pageOf(dictionary)))
  await generated('src/questions/views.ts', viewsModule(dictionary.questions))
  await generated('src/api/read/questions.ts', clientModule(dictionary.questions))
  await generated('clients/python/wynnsync_client/questions.py', pythonModule(openApi(dictionary.questions, '')))
  await db.close()
} finally {
  await rm(folder, { recursive: true, force: true })
}
