import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createItemWorld } from '../../../src/sandbox/generator/world.ts'
import { runNode } from '../child.ts'
import type { Part } from '../part.ts'

/** How many commits the item database has. */
const COMMITS = 200
/** Of 5,000 commits in six minutes. */
const wanted = 5000 / 360

/** The item database of a repository, a commit for each change: some items changed in each, many in each 20th. */
export const git: Part = async ({ program, folder, createDatabase, say }) => {
  const repository = join(folder, 'repository')
  await makeRepository(repository)
  const url = await createDatabase('git')
  await runNode([program, 'migrate'], { DATABASE_URL: url })
  const args = ['backfill', '--from-git', repository, '--map', 'items.json=items', '--json']
  const { out, wallMs, cpuMs, peakMb } = await runNode([program, ...args], {
    DATABASE_URL: url,
    PATH: process.env.PATH ?? '',
  })
  const [loaded] = (JSON.parse(out) as { resources: { answers: number; changed: number }[] }).resources
  if (loaded?.answers !== COMMITS) throw new Error(`${loaded?.answers} responses are loaded, not ${COMMITS}`)
  const rate = (COMMITS / wallMs) * 1000
  say(`The item database of ${COMMITS} commits, ${loaded.changed} changed items`, [
    {
      'wall s': (wallMs / 1000).toFixed(1),
      'cpu s': (cpuMs / 1000).toFixed(1),
      'peak MB': Math.round(peakMb),
      'commits/s': rate.toFixed(1),
    },
  ])
  return [
    {
      target: { name: `${name}, of 5,000 in 6 min`, unit: 'commits/s', bound: { of: 'measured', atLeast: wanted } },
      measured: rate,
    },
    { target: { name: `${name}, memory`, unit: 'MB', bound: { of: 'measured', atMost: 250 } }, measured: peakMb },
  ]
}

const name = '17 git, the item database'

async function makeRepository(folder: string): Promise<void> {
  await once(spawn('git', ['init', '--quiet', '--initial-branch=main', folder], { stdio: 'inherit' }), 'exit')
  const child = spawn('git', ['-C', folder, 'fast-import', '--quiet'], { stdio: ['pipe', 'inherit', 'inherit'] })
  const items = createItemWorld(1).items.map((item) => ({ ...item, lore: item.lore ?? '' }))
  const began = Date.UTC(2024, 0, 1) / 1000
  for (let nth = 0, next = 0; nth < COMMITS; nth++) {
    for (let count = nth % 20 === 0 ? 300 : 1 + (nth % 19); count > 0; count--) {
      const item = items[next++ % items.length]
      if (item) item.lore = `${nth} ${item.lore}`
    }
    const body = JSON.stringify(items)
    const head = `commit refs/heads/main\ncommitter A <a@example.org> ${began + 7200 * nth} +0000\ndata 0\n`
    const commit = `${head}M 100644 inline items.json\ndata ${Buffer.byteLength(body)}\n${body}\n`
    if (!child.stdin.write(commit)) await once(child.stdin, 'drain')
  }
  child.stdin.end()
  await once(child, 'exit')
}
