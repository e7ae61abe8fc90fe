import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { seededRandom } from '../../../src/base/clock.ts'
import type { Item } from '../../../src/sandbox/generator/records.ts'
import { createItemWorld } from '../../../src/sandbox/generator/world.ts'
import { runNode } from '../child.ts'
import type { Bench, Part } from '../part.ts'
import type { Outcome } from '../target.ts'

/** Of 5,000 commits in six minutes. */
const wanted = 5000 / 360

/** The item database as a public archive keeps it. A commit changes a few items of one type, each 20th some of every type. */
interface Archive {
  readonly name: string
  /** The file of an item; undefined for one that the archive does not have. */
  readonly fileOf: (item: Item) => string | undefined
  readonly commits: number
}

const archives: readonly Archive[] = [
  { name: 'in 8 files by type', fileOf: ({ type }) => `items/${type}.json`, commits: 5000 },
  {
    name: 'in one file of 400 kB',
    fileOf: ({ type }) => (type === 'ingredient' ? 'items/all.json' : undefined),
    commits: 5000,
  },
  { name: 'in one file of 5 MB', fileOf: () => 'items/all.json', commits: 200 },
]

/** Histories of the item database in git, each loaded into an empty database. `--commits` makes them shorter. */
export const git: Part = async (bench) => {
  const outcomes: Outcome[] = []
  for (const [nth, archive] of archives.entries()) {
    const commits = Math.min(archive.commits, bench.extent.commits)
    outcomes.push(...(await measure(bench, { ...archive, commits }, nth)))
  }
  return outcomes
}

async function measure(
  { program, folder, createDatabase, say }: Bench,
  archive: Archive,
  nth: number,
): Promise<readonly Outcome[]> {
  const repository = join(folder, `repository-${nth}`)
  await makeRepository(repository, archive)
  const url = await createDatabase(`git_${nth}`)
  await runNode([program, 'migrate'], { DATABASE_URL: url })
  const { out, wallMs, cpuMs, peakMb } = await runNode(
    [program, 'backfill', '--from-git', repository, '--map', 'items/*.json=items', '--json'],
    { DATABASE_URL: url, PATH: process.env.PATH ?? '' },
  )
  const [loaded] = (JSON.parse(out) as { resources: { answers: number; changed: number }[] }).resources
  if (loaded?.answers !== archive.commits)
    throw new Error(`${loaded?.answers} responses are loaded, not ${archive.commits}`)
  const rate = (archive.commits / wallMs) * 1000
  say(`The item database ${archive.name}, ${archive.commits} commits, ${loaded.changed} changed items`, [
    {
      'wall s': (wallMs / 1000).toFixed(1),
      'cpu s': (cpuMs / 1000).toFixed(1),
      'peak MB': Math.round(peakMb),
      'commits/s': rate.toFixed(1),
      'commits/cpu s': ((archive.commits / cpuMs) * 1000).toFixed(1),
    },
  ])
  const name = `17 git, ${archive.commits} commits of items ${archive.name}`
  return [
    { target: { name, unit: 'commits/s', bound: { of: 'measured', atLeast: wanted } }, measured: rate },
    { target: { name: `${name}, memory`, unit: 'MB', bound: { of: 'measured', atMost: 250 } }, measured: peakMb },
  ]
}

/** The same in every run, commit by commit. */
async function makeRepository(folder: string, { fileOf, commits }: Archive): Promise<void> {
  await mkdir(folder)
  await once(spawn('git', ['init', '--quiet', '--initial-branch=main', folder], { stdio: 'inherit' }), 'exit')
  const settings = ['-c', 'core.compression=1', '-C', folder]
  const child = spawn('git', [...settings, 'fast-import', '--quiet'], { stdio: ['pipe', 'inherit', 'inherit'] })
  const ended = once(child, 'exit')
  const files = new Map<string, { text: string; item: Item }[]>()
  for (const item of createItemWorld(1).items) {
    const file = fileOf(item)
    if (file === undefined) continue
    files.set(file, [...(files.get(file) ?? []), { text: JSON.stringify(item), item }])
  }
  const random = seededRandom(1)
  const all = [...files].flatMap(([file, records]) => records.map((record) => ({ file, record })))
  const began = Date.UTC(2024, 0, 1) / 1000
  for (let nth = 0; nth < commits; nth++) {
    const isPatch = nth % 20 === 0
    const { type } = all[Math.floor(random() * all.length)]?.record.item ?? {}
    const own = isPatch ? all : all.filter(({ record }) => record.item.type === type)
    const changed = new Set(nth === 0 ? files.keys() : [])
    for (let count = isPatch ? 300 : 1 + (nth % 19); count > 0; count--) {
      const { file, record } = own[Math.floor(random() * own.length)] as (typeof own)[number]
      record.text = JSON.stringify({ ...record.item, lore: `${nth} ${record.item.lore ?? ''}` })
      changed.add(file)
    }
    let commit = `commit refs/heads/main\ncommitter A <a@example.org> ${began + 7200 * nth} +0000\ndata 0\n`
    for (const file of changed) {
      const body = `[${files.get(file)?.map(({ text }) => text)}]`
      commit += `M 100644 inline ${file}\ndata ${Buffer.byteLength(body)}\n${body}\n`
    }
    if (!child.stdin.write(commit)) await once(child.stdin, 'drain')
  }
  child.stdin.end()
  await ended
}
