import { guildMemberSchema } from '../guilds.ts'
import { characterSchema } from '../people/characters.ts'
import { playerSchema } from '../people/players.ts'

/** Fields that the program knows of the records about people. */
export const knownFields: Readonly<Record<'profile' | 'character' | 'member', ReadonlySet<string>>> = {
  profile: new Set(Object.keys(playerSchema.shape)),
  character: new Set(Object.keys(characterSchema.shape)),
  member: new Set(Object.keys(guildMemberSchema.shape)),
}
