import { integer, text } from '../../db/columns.ts'
import { historyTable, partTable } from '../../db/history.ts'

/** API reference 8. */
export const ability = historyTable(
  'ability',
  'Versions of what stands in the ability trees: abilities, archetypes, and the connectors that the map draws between abilities.',
  {
    class: text('Part of the natural key: the class in lower case.'),
    kind: text('Part of the natural key: ability, archetype or connector.'),
    id: text('Part of the natural key: id of the ability or archetype; page, x and y of a connector.'),
  },
  {
    nameHtml: text('Name as the API sends it: HTML. NULL: connectors have none.'),
    name: text('Name as plain text.'),
    descriptionHtml: text('What it does, as the API sends it: HTML, its lines joined by line ends.'),
    description: text('The same as plain text.'),
    page: integer('Page of the tree, from 1.'),
    slot: integer('Place on the page.'),
    x: integer('Column in the tree.'),
    y: integer('Row in the tree.'),
    icon: text('Name of its picture.'),
    abilityPoints: integer('Points that it costs.'),
    combatLevel: integer('Combat level that it requires.'),
    archetype: text('The archetype of which it requires abilities.'),
    archetypeAmount: integer('How many of them.'),
  },
  { document: true },
)

export const abilityLink = partTable(
  ability,
  'ability_link',
  'How an ability or connector hangs together with abilities.',
  {
    relation: text(
      'requires: must be taken first; link: stands beside it in the tree; locks: cannot be taken any more; family: the connector belongs to it.',
    ),
    otherId: text('The other ability.'),
  },
  {},
)

export const abilityHistory = { root: ability, parts: { links: abilityLink } }
