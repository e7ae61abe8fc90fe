import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { topics } from '../../src/questions/catalogue.ts'
import { pageOf, readDictionary } from '../../src/questions/dictionary.ts'
import { htmlOf } from '../../src/questions/dictionary-html.ts'
import { markdownOf } from '../../src/questions/dictionary-markdown.ts'
import { buildProgram, runProgram } from '../support/cli.ts'
import { kindsOfPart, temporaryFolder, testDatabase, testDatabaseUrl } from '../support/postgres.ts'

describe.each(kindsOfPart)('the dictionary of the %s database', (kind) => {
  test('is the one in src/questions/dictionary.md (npm run generate writes it), and is whole', async () => {
    const dictionary = await readDictionary(await testDatabase(kind))
    const page = pageOf(dictionary)
    expect(markdownOf(page)).toBe(readFileSync('src/questions/dictionary.md', 'utf8'))
    const names = dictionary.questions.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(topics.flatMap((topic) => topic.names)))
    const [, game, sync] = dictionary.schemas
    expect([game?.name, sync?.name]).toEqual(['game', 'sync'])
    expect(game?.tables.find(({ name }) => name === 'item_identification')).toMatchObject({
      root: { name: 'item', columns: ['internal_name', 'valid_from'] },
      isHistory: false,
    })
    expect(game?.tables.find(({ name }) => name === 'item')).toMatchObject({ root: null, isHistory: true })
    const silent = [...dictionary.questions, ...(game?.tables ?? []), ...(sync?.tables ?? [])].filter(
      ({ comment }) => !comment,
    )
    expect(silent.map(({ name }) => name)).toEqual([])
    const unexplained = page.flatMap((block) =>
      block.kind === 'rows' && block.columns.includes('meaning') ? block.rows.filter((row) => !row[2]) : [],
    )
    expect(unexplained).toEqual([])

    const html = htmlOf(page)
    const links = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
    expect(links).toHaveLength((game?.tables.length ?? 0) + (sync?.tables.length ?? 0))
    const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    expect(links.filter((id) => !ids.has(id ?? ''))).toEqual([])
    expect(html).not.toMatch(/<script|<link|<img|src=|url\(|href="[^#]/)
  })
})

describe('wynnsync dictionary', () => {
  beforeAll(buildProgram)

  test('writes a page, or says that it cannot', async () => {
    const environment = { DATABASE_URL: await testDatabaseUrl() }
    const file = join(await temporaryFolder(), 'dictionary.html')
    const args = ['dictionary', '--html', '--out']
    expect(await runProgram([...args, file], environment)).toEqual({ code: 0, out: '', err: '' })
    expect(readFileSync(file, 'utf8')).toMatch(/^<!doctype html>.*<svg .*<\/html>\n$/s)
    const { code, err } = await runProgram([...args, join(file, 'nowhere')], environment)
    expect([code, err]).toEqual([2, expect.stringContaining('--out ')])
  })
})
