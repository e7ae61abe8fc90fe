import { writeFile } from 'node:fs/promises'
import { readDictionary } from '../../../analytics/dictionary.ts'
import { htmlOf } from '../../../analytics/dictionary-html.ts'
import { markdownOf } from '../../../analytics/dictionary-markdown.ts'
import { pageOf } from '../../../analytics/dictionary-page.ts'
import { migrateDatabase, openDatabase } from '../../../app/app.ts'
import { UsageError } from '../../../app/errors.ts'
import { type Context, exitCode } from '../../context.ts'

export interface DictionaryOptions {
  readonly html?: boolean
  /** A file instead of stdout. */
  readonly out?: string
}

/** `dictionary`: what every view, function, table and column means, as Markdown or HTML. Returns the exit code. */
export async function dictionaryCommand(options: DictionaryOptions, { app, out, flags }: Context): Promise<number> {
  const db = await openDatabase(app, ['dictionary'])
  try {
    await migrateDatabase(db, app)
    const dictionary = await readDictionary(db)
    const page = pageOf(dictionary)
    const text = flags.json ? `${JSON.stringify(dictionary)}\n` : options.html ? htmlOf(page) : markdownOf(page)
    if (options.out === undefined) out.write(text)
    else await write(options.out, text)
    return exitCode.done
  } finally {
    await db.close()
  }
}

async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text)
  } catch (error) {
    throw new UsageError(`--out ${path}: ${error instanceof Error ? error.message : error}`)
  }
}
