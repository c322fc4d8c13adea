import { escapeInvisible } from '../format.ts';

/** A text from outside: it turns no text beside it around, and hides nothing. */
export const isolated = (text: string) => <bdi>{escapeInvisible(text)}</bdi>;
