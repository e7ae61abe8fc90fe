import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { programCalled } from '../../src/cli/commands/demo/demo-command.ts'
import { buildProgram, runProgram, startProgram } from '../support/cli.ts'
import { temporaryFolder } from '../support/postgres.ts'

const lines = (text: string) => text.split('\n').map((line) => line.trim().replace(/ {2,}/g, '  '))

beforeAll(buildProgram)

test.each([
  ['/home/a/wynnsync/dist/main.js', 'node dist/main.js'],
  ['/home/a/bot/node_modules/.bin/wynnsync', 'npx wynnsync'],
  ['C:\\bot\\node_modules\\wynnsync\\dist\\main.js', 'npx wynnsync'],
  ['/usr/local/bin/wynnsync', 'wynnsync'],
])('the demo shows commands as the program was called: %s', (script, program) => {
  expect(programCalled(script)).toBe(program)
})

test('the demo shows its days in five paragraphs, whose commands show the same, and which the README quotes', {
  timeout: 240_000,
}, async () => {
  const folder = await temporaryFolder()
  const { code, out, err } = await runProgram(['demo'], { TMPDIR: folder }, folder)
  expect([code, err]).toEqual([0, ''])
  const subjects = [...out.matchAll(/^(\d)\. ([^:]+): /gm)].map(([, number, subject]) => `${number} ${subject}`)
  expect(subjects).toEqual(['1 The map', '2 War', '3 A privacy switch', '4 A patch', '5 Changing sides'])
  expect(out).toMatch(/^1 May \.{24}.* \d+ new.*\n2 May \.{24}.*\n3 May \.{24}/m)
  expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('<html')

  const paragraphs = [...out.matchAll(/^\d\. .*\n\n {3}node dist\/main\.js (.*)\n\n((?: {3}.*\n)+)/gm)]
  expect(paragraphs).toHaveLength(5)
  for (const [, command = '', table = ''] of paragraphs) {
    const words = [...command.matchAll(/"([^"]+)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '')
    const shown = await runProgram(words, { TMPDIR: folder }, folder)
    expect([command, shown.code]).toEqual([command, 0])
    const [header = '', ...rows] = lines(table).filter((line) => line !== '')
    expect(rows.length).toBeGreaterThan(0)
    const theirs = lines(shown.out).map((line) => line.split('  '))
    for (const cell of header.split('  ')) expect(theirs.flat()).toContain(cell)
    // The command shows more columns.
    for (const row of rows)
      expect(
        theirs.some((line) => row.split('  ').every((cell) => line.includes(cell))),
        row,
      ).toBe(true)
  }

  // When a paragraph says when, its table says the same.
  const removedAt = / removes what was kept of it, at (\d\d:\d\d)\./.exec(out)?.[1]
  expect(removedAt).toMatch(/:/)
  expect(paragraphs[2]?.[2]).toMatch(new RegExp(`T${removedAt}:00Z +onlineStatus`))

  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
  const [, quoted = ''] = /with the command that shows it:\n\n```\n(.*?)```/s.exec(readme) ?? []
  const said = lines(out).map((line) => line.replace(/ --data-dir .*/, ' ...'))
  const wanted = lines(quoted).filter((line) => !['', '...', '.../report.html'].includes(line))
  expect(wanted.length).toBeGreaterThan(5)
  expect(wanted.filter((line) => !said.includes(line))).toEqual([])
})

test('a demo takes an empty folder or that of an earlier demo, and leaves every other one alone', async () => {
  const [folder, foreign, temporary] = [await temporaryFolder(), await temporaryFolder(), await temporaryFolder()]
  const start = (...args: string[]) => {
    const running = startProgram(['demo', ...args], { TMPDIR: temporary }, folder)
    onTestFinished(() => void running.child.kill('SIGKILL'))
    return running
  }
  const begun = async ({ child }: ReturnType<typeof start>) =>
    String(await new Promise((resolve) => child.stdout?.once('data', resolve)))
  writeFileSync(join(foreign, 'history'), 'of years')
  const refused = await start('--data-dir', foreign).finished
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("holds something that is not a demo's") })
  expect(readdirSync(foreign)).toEqual(['history'])

  const place = join(folder, 'here')
  const first = start('--data-dir', place)
  expect(await begun(first)).toContain(`an embedded Postgres in ${place}.`)
  await untilThere(join(place, 'postgres'))
  const second = await start('--data-dir', place).finished
  expect(second).toMatchObject({
    code: 75,
    err: expect.stringMatching(/process \d+ \(demo\) uses .*name another folder for this demo: --data-dir/),
  })
  expect(readdirSync(place)).toContain('postgres')
  expect(first.child.exitCode).toBeNull()
  first.child.kill('SIGKILL')
  await first.finished
  const third = start('--data-dir', place)
  expect(await begun(third)).toContain(place)
  // Nothing went to the usual folder.
  expect(readdirSync(temporary)).toEqual([])
})

async function untilThere(path: string): Promise<void> {
  while (!existsSync(path)) await systemClock.sleep(50)
}
