import type { Question } from '../questions/questions.ts'

/** Whether a question is about single players: it takes one, or its rows name one. The entities of leaderboards may be players, and authors of news are. */
export function isAboutPlayers({ parameters, columns }: Question): boolean {
  return [...parameters, ...columns].some(({ name }) => /^(player|player_uuid|username|entity|author)$/.test(name))
}

/** What people who reach the server can read about players; said when it is public. */
export const peopleNotice = `Everybody who reaches this address can read what is kept of players: names they have and had, guilds and ranks,
contributions, sessions and playtime, but for what they restricted. --no-people leaves all answers about single players out.
`
