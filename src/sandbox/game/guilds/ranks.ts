/** From the highest to the lowest; `captain` is not in the documentation (API reference 6.1). */
export const ranks = ['owner', 'chief', 'strategist', 'captain', 'recruiter', 'recruit'] as const
export type Rank = (typeof ranks)[number]
