import { items } from '../../src/resources/items/index.ts'
import { prepare } from '../../src/sync/normalize/prepare.ts'
import { collectGarbage, median, timed } from './measure.ts'

/** What an answer costs before the database: reading its JSON, then making rows and fingerprints of it. */
export function measurePreparation(body: string, rounds: number) {
  const parsing: number[] = []
  const preparing: number[] = []
  let records = 0
  for (let round = 0; round < rounds; round++) {
    collectGarbage()
    const parsed = timed(() => JSON.parse(body) as unknown[])
    const prepared = timed(() => prepare(items, parsed.result))
    parsing.push(parsed.ms)
    preparing.push(prepared.ms)
    records = prepared.result.entities.length
  }
  const [parseMs, prepareMs] = [median(parsing), median(preparing)]
  return [
    { step: 'JSON.parse', records, ms: Math.round(parseMs), ratio: 1 },
    { step: 'prepare', records, ms: Math.round(prepareMs), ratio: Number((prepareMs / parseMs).toFixed(2)) },
  ]
}
