import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { median } from '../measure.ts'
import type { Part } from '../part.ts'
import { type History, type Measured, tryTool } from '../peers/compare.ts'
import { peerEnvironment } from '../peers/environment.ts'
import { FLAT_ROWS, serveResponses } from '../peers/responses.ts'
import { ownTools, peerTools, type Tool } from '../peers/tools.ts'

const ROUNDS = 3

/** The same works with wynnsync, with general tools and with a plain script, in alternation. */
export const peers: Part = async ({ program, createDatabase, say }) => {
  const sources = join(dirname(program), '../test/bench/peers')
  const environment = await peerEnvironment(sources)
  const tools: Tool[] = ownTools(program, sources)
  if (typeof environment === 'string') say('Without the peers', [{ reason: environment }])
  else tools.push(...peerTools(environment, sources))
  say(
    'Versions',
    (await readFile(join(sources, 'requirements.txt'), 'utf8'))
      .split('\n')
      .filter(Boolean)
      .map((line) => ({ pinned: line.split(';')[0] })),
  )

  const responses = await serveResponses(1)
  const measured: Measured[] = []
  const histories = new Map<string, History>()
  const failed = new Map<string, string>()
  try {
    for (let round = 0; round < ROUNDS; round++)
      for (const tool of tools.filter(({ name }) => !failed.has(name))) {
        const database = await createDatabase(`peer_${round}_${tools.indexOf(tool)}`)
        try {
          const tried = await tryTool(tool, database, responses)
          measured.push(...tried.measured)
          histories.set(tool.name, tried.history)
        } catch (error) {
          failed.set(tool.name, String(error).slice(-300))
        }
      }
  } finally {
    await responses.close()
  }
  say(
    `The same work with each tool, median of ${ROUNDS}; ${FLAT_ROWS.toLocaleString('en')} flat rows`,
    medians(measured),
  )
  say('History after two changed responses: versions that ended', [...histories.values()].map(verdict))
  if (failed.size > 0)
    say(
      'Could not be measured',
      [...failed].map(([tool, reason]) => ({ tool, reason })),
    )
  return []
}

function medians(measured: readonly Measured[]) {
  const groups = new Map<string, Measured[]>()
  for (const one of measured)
    groups.set(`${one.work} ${one.tool}`, [...(groups.get(`${one.work} ${one.tool}`) ?? []), one])
  const works = [...new Set(measured.map(({ work }) => work))]
  const lines = [...groups.values()].sort((a, b) => works.indexOf(a[0]?.work ?? '') - works.indexOf(b[0]?.work ?? ''))
  return lines.map((group) => {
    const of = (pick: (one: Measured) => number, digits: number) => Number(median(group.map(pick)).toFixed(digits))
    return {
      work: group[0]?.work,
      tool: group[0]?.tool,
      'wall s': of(({ wallMs }) => wallMs / 1000, 2),
      'CPU s': of(({ cpuMs }) => cpuMs / 1000, 2),
      'peak MB': of(({ peakMb }) => peakMb, 0),
      'WAL MB': of(({ walMb }) => walMb, 2),
      'disk MB': of(({ diskMb }) => diskMb, 2),
      rows: of(({ rows }) => rows, 0),
    }
  })
}

function verdict({ tool, expected, found, missed, invented }: History) {
  const isRight = missed === 0 && invented === 0
  return { tool, expected, found, missed, invented, history: found === 0 ? 'none' : isRight ? 'right' : 'wrong' }
}
