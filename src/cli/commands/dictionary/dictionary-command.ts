import { writeFile } from 'node:fs/promises'
import { messageOf, UsageError, withRoom } from '../../../base/errors.ts'
import { pageOf, readDictionary } from '../../../questions/dictionary.ts'
import { htmlOf } from '../../../questions/dictionary-html.ts'
import { markdownOf } from '../../../questions/dictionary-markdown.ts'
import { type Context, withDatabase } from '../../context.ts'
import { refuseWith } from '../../options.ts'

interface DictionaryFlags {
  readonly html?: boolean
  readonly out?: string
}

/** `dictionary`: every view, function, table and column, as Markdown, HTML or JSON. */
export async function dictionaryCommand(context: Context, { html, out: path }: DictionaryFlags): Promise<void> {
  refuseWith({ html, ...context.flags }, '--json', ['--html'])
  const dictionary = await withDatabase(context, 'dictionary', readDictionary)
  const page = pageOf(dictionary)
  const text = context.flags.json ? `${JSON.stringify(dictionary)}\n` : html ? htmlOf(page) : markdownOf(page)
  if (path === undefined) await context.out.page(text)
  else
    await writeFile(path, text).catch((error: unknown) => {
      const found = withRoom(error, path)
      if (found !== error) throw found
      throw new UsageError(`--out ${path}: ${messageOf(error)}`)
    })
}
