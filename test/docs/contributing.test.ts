import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { readChanges } from '../changes/patches.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const text = readFileSync(`${root}CONTRIBUTING.md`, 'utf8')

describe('the changes that CONTRIBUTING.md explains', () => {
  const changes = readChanges()

  test('are twenty, each with a patch that a script makes', () => {
    expect(changes).toHaveLength(20)
    for (const { title, name } of changes) expect(text).toContain(`| [${title}](test/changes/${name}.patch) |`)
  })

  test.each(changes)('$title: its patch has the files that it names, four at most', ({ files, touched }) => {
    const byHand = touched.filter((file) => !file.startsWith('test/'))
    expect(files.map(([file]) => file).sort()).toEqual(byHand.sort())
    expect(files.length).toBeGreaterThan(0)
    expect(files.length).toBeLessThanOrEqual(files.some(([file]) => file.startsWith('src/resources/index')) ? 3 : 4)
  })

  test.each(changes)('$title: its patch fits the files', ({ path }) => {
    const { status, stderr } = spawnSync('git', ['apply', '--check', path], { cwd: root, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  test('are said of files that exist, in every other place too', () => {
    // Patches make new files.
    const others = text.replace(/<!-- generated: changes[\s\S]*?<!-- end -->/, '')
    const named = [...others.matchAll(/`((?:src|test|docs)\/[\w./-]+)`/g)].map(([, file = '']) => file)
    expect(named.filter((file) => !file.includes('NAME') && !existsSync(root + file))).toEqual([])
  })

  test('name the scripts of package.json', () => {
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> }
    const named = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name)
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  })
})
