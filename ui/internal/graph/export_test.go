package graph

var Sample, Long, Crowd = sample, long, crowd

const Shopping = shopping
