// Writes every generated file of the repository anew, from a freshly migrated embedded database. Run by `npm run generate`.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readDictionary } from '../dist/analytics/dictionary.js'
import { markdownOf } from '../dist/analytics/dictionary-markdown.js'
import { pageOf } from '../dist/analytics/dictionary-page.js'
import { viewsModule } from '../dist/analytics/views-module.js'
import { migrateDatabase } from '../dist/app/app.js'
import { systemClock } from '../dist/app/clock.js'
import { openEmbedded } from '../dist/db/embedded/embedded.js'

const folder = await mkdtemp(join(tmpdir(), 'wynnsync-generate-'))
try {
  const db = await openEmbedded(folder, { clock: systemClock, holds: ['generate'], waitMs: 1000 })
  await migrateDatabase(db, { clock: systemClock })
  const dictionary = await readDictionary(db)
  await writeFile('src/analytics/dictionary.md', markdownOf(pageOf(dictionary)))
  await writeFile('src/analytics/views.ts', viewsModule(dictionary.questions))
  await db.close()
} finally {
  await rm(folder, { recursive: true, force: true })
}
