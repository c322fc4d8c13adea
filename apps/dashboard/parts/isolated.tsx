import { escapeInvisible } from '../format.ts';

/** Text from outside, isolated so that it cannot reverse the text beside it or hide characters. */
export const isolated = (text: string) => <bdi>{escapeInvisible(text)}</bdi>;
