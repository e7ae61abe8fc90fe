import type { Random } from '../../base/clock.ts'
import { between, chance, pick, weighted, weights } from './draw.ts'
import type { DropMeta, Source } from './records.ts'
import { adjectives, nouns, titled } from './words.ts'

const drawType = weighted(
  weights(
    'merchant:369 dungeonMerchant:165 raid:161 challenge:58 miniboss:55 lootrun:51 quest:48 altar:46 dungeon:40 event:16 guild:16',
  ),
)

/** Where an item is found; a few forms are rare (API reference 5.2). `four` allows four coordinates. */
export function dropMeta(random: Random, four: boolean): DropMeta {
  const type = drawType(random)
  const name = titled(pick(random, adjectives), pick(random, nouns))
  const coordinates = Object.values(place(random))
  if (type === 'event')
    return { name, type: ['event', 'merchant'], event: pick(random, ['bonfire', 'snowfall']), coordinates }
  return {
    name,
    type,
    coordinates: four && chance(random, 0.15) ? [...coordinates, between(random, 20, 150)] : coordinates,
  }
}

/** Known to drop somewhere, but not where: neither name nor coordinates. */
export const unplacedDrop: DropMeta = { type: 'lootrun' }

const drawCount = weighted(
  weights('1:464 2:175 3:85 4:71 5:40 6:28 8:17 7:15 9:13 11:11 10:9 13:6 20:3 33:2 46:1 88:1'),
)
const drawCoords = weighted({ many: 1484, one: 1024, unknown: 487, unsaid: 151, nowhere: 114 })

/** The creatures that drop an ingredient; coordinates are null, false, absent, one list or a list of lists. */
export function droppedBy(random: Random, being: () => string): Source[] {
  return Array.from({ length: Number(drawCount(random)) }, () => {
    const name = being()
    const form = drawCoords(random)
    if (form === 'unsaid') return { name }
    if (form === 'unknown') return { name, coords: null }
    if (form === 'nowhere') return { name, coords: false }
    if (form === 'one') return { name, coords: area(random) }
    return { name, coords: Array.from({ length: between(random, 2, 9) }, () => area(random)) }
  })
}

function area(random: Random): number[] {
  return [...Object.values(place(random)), between(random, 0, 60)]
}

/** Somewhere on the map. */
export function place(random: Random) {
  return { x: between(random, -2200, 1400), y: between(random, 8, 160), z: between(random, -5900, -200) }
}
