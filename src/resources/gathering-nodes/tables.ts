import { doublePrecision, integer, text } from '../../db/columns.ts'
import { historyTable } from '../../db/history.ts'

/** API reference 3.6. */
export const gatheringNode = historyTable(
  'gathering_node',
  'Versions of the places where something can be gathered; coordinates in blocks.',
  {
    x: doublePrecision('Part of the natural key: east of the centre of the map.'),
    y: doublePrecision('Part of the natural key: height.'),
    z: doublePrecision('Part of the natural key: south of the centre.'),
    resource: text('Part of the natural key: what is gathered there, such as OAK.'),
  },
  {
    kind: text('NODE, WALL, CORNER, or what else the API sends.'),
    level: integer('The profession level that it requires.'),
    angle: integer('Direction that it faces, in degrees.'),
  },
)

export const gatheringNodeHistory = { root: gatheringNode, parts: {} }
