module mlops.eks/tools/pause

go 1.26.0

tool mlops.eks/tools/pause
