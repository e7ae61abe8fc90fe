import { doublePrecision, text } from '../../db/columns.ts'
import { historyTable } from '../../db/history.ts'

/** API reference 3.6. */
export const mapMarker = historyTable(
  'map_marker',
  'Versions of the markers of the web map; coordinates in blocks.',
  {
    name: text('Part of the natural key: name of the marker; many places have the same.'),
    x: doublePrecision('Part of the natural key: east of the centre of the map.'),
    y: doublePrecision('Part of the natural key: height.'),
    z: doublePrecision('Part of the natural key: south of the centre.'),
  },
  { icon: text('File name of its picture.') },
)

export const mapMarkerHistory = { root: mapMarker, parts: {} }
