import { integer, text } from '../../db/columns.ts'
import { historyTable, partTable } from '../../db/history.ts'

/** API reference 3.4, 8. */
export const characterClass = historyTable(
  'class',
  'Versions of the classes that players choose from.',
  { class: text('Natural key: id of the class in lower case, such as archer.') },
  {
    name: text('Name as players see it, with the name of its other form.'),
    lore: text('Text that describes it.'),
    overallDifficulty: integer('How difficult it is to play.'),
    overallMax: integer('The highest difficulty there is.'),
  },
  { document: true },
)

export const classArchetype = partTable(
  characterClass,
  'class_archetype',
  'Archetypes of a version of a class: ways of playing it.',
  { archetype: text('Id of the archetype.') },
  {
    name: text('Name with colour codes of the game, such as &a&lName.'),
    icon: text('Name of its picture.'),
    difficulty: integer('How difficult it is.'),
    max: integer('The highest value of difficulty, damage, defence, range and speed.'),
    damage: integer('How much damage it deals.'),
    defence: integer('How much it withstands.'),
    range: integer('How far it reaches.'),
    speed: integer('How fast it is.'),
  },
)

export const classHistory = { root: characterClass, parts: { archetypes: classArchetype } }
