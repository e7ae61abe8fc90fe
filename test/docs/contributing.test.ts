import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const text = readFileSync(`${root}CONTRIBUTING.md`, 'utf8')
const table = text.slice(text.indexOf('## Where to change what'), text.indexOf('## A new resource'))
const changes = table
  .split('\n')
  .filter((line) => line.startsWith('| a') || line.startsWith('| the'))
  .map((line) => ({
    change: line.split('|')[1]?.trim() ?? '',
    files: [...line.matchAll(/`(src\/[^`]+)`/g)].map(([, f = '']) => f),
  }))

describe('the changes that CONTRIBUTING.md explains', () => {
  test('are fifteen', () => {
    expect(changes).toHaveLength(15)
  })

  test.each(changes)('$change: names files that exist', ({ files }) => {
    expect(files.length).toBeGreaterThan(0)
    expect(files.filter((file) => !existsSync(root + file))).toEqual([])
  })

  test('are said of files that exist, in every other place too', () => {
    const named = [...text.matchAll(/`((?:src|test|docs)\/[\w./-]+)`/g)].map(([, file = '']) => file)
    expect(named.filter((file) => !file.includes('NAME') && !existsSync(root + file))).toEqual([])
  })

  test('name the scripts of package.json', () => {
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> }
    const named = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name)
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  })
})
