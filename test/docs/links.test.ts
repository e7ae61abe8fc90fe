import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], { cwd: root })
const pages = tracked
  .toString()
  .trim()
  .split('\n')
  .filter((page) => existsSync(join(root, page)))

/** The text without fenced blocks and code spans, where brackets are no links. */
const prose = (page: string) =>
  readFileSync(join(root, page), 'utf8')
    .replace(/^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm, '')
    .replace(/`[^`\n]*`/g, '')

/** The anchor that GitHub makes of a heading: lower case, punctuation dropped, spaces to hyphens, doubles numbered. */
function anchorsOf(page: string): Set<string> {
  const text = readFileSync(join(root, page), 'utf8').replace(/^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm, '')
  const anchors = new Set<string>()
  for (const [, heading = ''] of text.matchAll(/^#{1,6} +(.+?)#*$/gm)) {
    const plain = heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    let anchor = plain
    for (let nth = 1; anchors.has(anchor); nth++) anchor = `${plain}-${nth}`
    anchors.add(anchor)
  }
  return anchors
}

/** What is wrong with a link, or nothing. */
function problemOf(page: string, target: string): string[] {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? page : relative(root, join(root, dirname(page), decodeURIComponent(path)))
  if (file.startsWith('..')) return [`${page}: ${target} leads out of the repository`]
  if (!existsSync(join(root, file))) return [`${page}: ${target} is missing`]
  if (anchor === undefined) return []
  if (statSync(join(root, file)).isDirectory() || !anchorsOf(file).has(anchor))
    return [`${page}: ${target} has no such heading`]
  return []
}

const linksOf = (page: string) =>
  [...prose(page).matchAll(/\]\(([^()\s]+)(?: "[^"]*")?\)|^\[[^\]]+\]: +(\S+)$/gm)]
    .map(([, inline, reference]) => inline ?? reference ?? '')
    .filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))

test('every relative link of every Markdown page leads to a file and a heading that exist', () => {
  const links = pages.flatMap((page) => linksOf(page).map((target) => ({ page, target })))
  expect(links.length).toBeGreaterThan(20)
  expect(links.flatMap(({ page, target }) => problemOf(page, target))).toEqual([])
})

test('every page of docs can be reached from the README', () => {
  const seen = new Set(['README.md'])
  for (const page of seen) {
    for (const target of linksOf(page)) {
      const file = relative(root, join(root, dirname(page), target.split('#')[0] ?? ''))
      if (file.endsWith('.md') && existsSync(join(root, file))) seen.add(file)
    }
  }
  expect(pages.filter((page) => page.startsWith('docs/') && !seen.has(page))).toEqual([])
})

test('AGENTS.md names files and folders that are there, and functions that these have', () => {
  const text = readFileSync(join(root, 'AGENTS.md'), 'utf8')
  const named = [...text.matchAll(/(?:^ *(\w+) +)?\b((?:src|migrations|docs|scripts|test)\/[\w./-]*\w\/?)/gm)]
  expect(named.length).toBeGreaterThan(20)
  for (const [, name, path = ''] of named) {
    expect([path, existsSync(join(root, path))]).toEqual([path, true])
    if (name && path.endsWith('.ts'))
      expect([path, readFileSync(join(root, path), 'utf8')]).toEqual([path, expect.stringMatching(`\\b${name}\\b`)])
  }
})

test('the README has at most 900 words', () => {
  expect(readFileSync(join(root, 'README.md'), 'utf8').split(/\s+/).length).toBeLessThanOrEqual(900)
})
